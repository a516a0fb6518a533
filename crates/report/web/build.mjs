// Bundles the page's script and style into ../src/page, or into the folder given as an argument.
import { build } from "esbuild";

const folder = process.argv[2] ?? "../src/page";
const banner = `/* Merganser's page of results (MIT OR Apache-2.0). With Apache ECharts 6.1.0 (Apache-2.0, Copyright 2017-2026 The Apache
Software Foundation), zrender 6 (BSD-3-Clause, Copyright 2017 Baidu Inc.) and tslib 2 (0BSD, Copyright Microsoft Corporation);
texts of the licences: crates/report/web/THIRDPARTY.md. Built from crates/report/web. */`;
await build({
  entryPoints: { page: "src/main.js" },
  outdir: folder,
  bundle: true,
  minify: true,
  charset: "utf8",
  legalComments: "none",
  target: "es2022",
  banner: { js: banner },
});
await build({ entryPoints: { page: "src/style.css" }, outdir: folder, bundle: true, minify: true });
