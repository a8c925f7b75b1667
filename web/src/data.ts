/** The data that the page starts from, as `presets.py` and `exercises.py` write them. */

export async function json<T>(name: string): Promise<T> {
  const response = await fetch(new URL(`data/${name}`, document.baseURI));
  if (!response.ok) throw new Error(`data/${name}: ${response.status} ${response.statusText}`);
  return (await response.json()) as T;
}
