import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// Relative addresses: the folder works below any path of a static server.
export default defineConfig({
  base: "./",
  plugins: [svelte()],
  worker: { format: "es" },
  build: { target: "es2022", sourcemap: false, reportCompressedSize: false },
});
