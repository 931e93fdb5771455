import { defineConfig } from "vite";

// One script of a fixed name beside app.css: the shell's template names both.
export default defineConfig({
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    outDir: "../static",
    emptyOutDir: false,
    copyPublicDir: false,
    reportCompressedSize: false,
    target: "es2022",
    modulePreload: false,
    rollupOptions: {
      input: "src/main.jsx",
      output: { entryFileNames: "plan.js", assetFileNames: "app[extname]", inlineDynamicImports: true },
    },
  },
});
