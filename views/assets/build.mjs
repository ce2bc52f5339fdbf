// Builds static/ from views/ and npm packages: `npm ci && npm run build`. The output is the same
// bytes every time, is committed, and a check fails when it is stale.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { buildSync } from "esbuild";
import subsetFont from "subset-font";

const out = "static";
const npm = (path) => `node_modules/${path}`;
const text = (path) => readFileSync(path, "utf8");
const withoutMap = (js) => js.replace(/\n?\/\/# sourceMappingURL=.*\s*$/, "\n");

execFileSync(npm(".bin/tailwindcss"), ["-i", "views/assets/app.css", "-o", `${out}/app.css`, "--minify"], {
  stdio: ["ignore", "ignore", "inherit"],
});

for (const name of ["authoring", "site", "files", "palette", "perfetto", "workbench"]) {
  buildSync({
    entryPoints: [`views/assets/${name}.js`],
    outfile: `${out}/${name}.js`,
    bundle: true,
    minify: true,
    format: name === "site" ? "iife" : "esm",
    target: "es2022",
    legalComments: "none",
  });
}

// The editor and the modules that it loads when needed. They share the core of CodeMirror.
for (const file of readdirSync(out)) if (file.startsWith("editor")) rmSync(`${out}/${file}`);
buildSync({
  entryPoints: readdirSync("views/assets").filter((file) => /^editor(-(cpp|diff|python|vim|vscode|yaml))?\.js$/.test(file)).map((file) => `views/assets/${file}`),
  outdir: out,
  chunkNames: "editor-core-[hash]",
  loader: { ".css": "text" },
  splitting: true,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
});

// htmx must run before its extension registers itself.
const htmx = ["htmx.min.js", "ext/hx-sse.min.js"].map((file) => withoutMap(text(npm(`htmx.org/dist/${file}`))));
writeFileSync(`${out}/htmx.js`, htmx.join(""));

// The server uses this package to convert LaTeX to MathML.
copyFileSync(npm("temml/dist/temml.min.js"), "views/temml.min.js");

const figtree = "@fontsource-variable/figtree";
// This font is a third of the bytes of a first visit. Pages use weights from 400 to 700.
const span = (from, to) => Array.from({ length: to - from }, (_, i) => String.fromCodePoint(from + i)).join("");
const letters = span(0x20, 0x250) + span(0x2000, 0x2200) + "\u2212"; // Latin, punctuation, arrows, minus
writeFileSync(`${out}/figtree.woff2`, await subsetFont(readFileSync(npm(`${figtree}/files/figtree-latin-wght-normal.woff2`)), letters, { targetFormat: "woff2", variationAxes: { wght: { min: 400, max: 700 } } }));

// Styles that only some pages load: profiles, the workbench, pages for writing and trying tasks, and single pages.
for (const [from, to] of [["views/charts/profile.css", "profile.css"], ["views/assets/authoring.css", "authoring.css"], ["views/assets/workbench.css", "workbench.css"], ["views/assets/pages.css", "pages.css"]]) {
  buildSync({ entryPoints: [from], outfile: `${out}/${to}`, minify: true, target: "es2022", legalComments: "none" });
}

const licences = ["htmx.org", "codemirror", "@replit/codemirror-vim", "temml", figtree].map((name) => `${name}\n\n${text(npm(`${name}/LICENSE`)).trim()}\n`);
writeFileSync(`${out}/LICENSES.txt`, licences.join("\n----\n\n"));

// axe-core checks accessibility in tests; no page loads it.
copyFileSync(npm("axe-core/axe.min.js"), "web/testdata/axe.min.js");

// inputs.txt has a hash of the sources of static/. A Go test compares it, which finds outdated files without node.
const inputs = ["package-lock.json", "tailwind.config.js", "views/charts/profile.css"]
  .concat(readdirSync("views/assets").map((file) => `views/assets/${file}`))
  .concat(readdirSync("views").filter((file) => file.endsWith(".templ")).map((file) => `views/${file}`));
writeFileSync(`${out}/inputs.txt`, `${digest(inputs)}\n`);

// All files share one version, which is part of their URLs. So relative links between files (the font in app.css) work, and
// browsers load all files again after a change.
const files = readdirSync(out).filter((file) => !/\.go$|^(version|inputs)\.txt$/.test(file));
writeFileSync(`${out}/version.txt`, `${digest(files.map((file) => `${out}/${file}`))}\n`);

// digest hashes names and contents: 12 hex digits.
function digest(paths) {
  const hash = createHash("sha256");
  for (const path of paths.sort()) hash.update(`${path}\0`).update(readFileSync(path));
  return hash.digest("hex").slice(0, 12);
}
