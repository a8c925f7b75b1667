/** Numbers as `waymark exercise check` prints them. */

/** With four significant digits, as Python's `.4g`. */
export function digits(value: number): string {
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(Number(value.toPrecision(4)))));
  if (exponent >= -4 && exponent < 4) return String(Number(value.toPrecision(4)));
  const [mantissa, power] = value.toExponential(3).split("e") as [string, string];
  const sign = power.startsWith("-") ? "-" : "+";
  return `${Number(mantissa)}e${sign}${power.slice(1).padStart(2, "0")}`;
}

/** A range with its unit. */
export function range(least: number | null, most: number | null): string {
  if (least === null) return `at most ${most}`;
  if (most === null) return `at least ${least}`;
  return least === most ? `${least}` : `${least} to ${most}`;
}

export function within(value: number, least: number | null, most: number | null): boolean {
  return (least === null || value >= least) && (most === null || value <= most);
}
