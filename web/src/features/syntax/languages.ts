/** Languages that have syntax colours, each loaded with its first text. */
import { type LanguageSupport, StreamLanguage } from "@codemirror/language";
import type { Extension } from "@codemirror/state";

type Load = () => Promise<LanguageSupport | Extension>;

const javascript =
  (options: { typescript?: boolean; jsx?: boolean }): Load =>
  async () =>
    (await import("@codemirror/lang-javascript")).javascript(options);
const clike =
  (name: "c" | "cpp" | "java" | "csharp" | "kotlin"): Load =>
  async () =>
    StreamLanguage.define((await import("@codemirror/legacy-modes/mode/clike"))[name]);
const shell: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/shell")).shell);
const python: Load = async () => (await import("@codemirror/lang-python")).python();
const markdown: Load = async () => (await import("@codemirror/lang-markdown")).markdown();
const json: Load = async () => (await import("@codemirror/lang-json")).json();
const css: Load = async () => (await import("@codemirror/lang-css")).css();
const html: Load = async () => (await import("@codemirror/lang-html")).html();
const yaml: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/yaml")).yaml);
const toml: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/toml")).toml);
const ini: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/properties")).properties);
const rust: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/rust")).rust);
const go: Load = async () => StreamLanguage.define((await import("@codemirror/legacy-modes/mode/go")).go);
const ruby: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/ruby")).ruby);
const lua: Load = async () => StreamLanguage.define((await import("@codemirror/legacy-modes/mode/lua")).lua);
const swift: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/swift")).swift);
const sql: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/sql")).standardSQL);
const diff: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/diff")).diff);
const dockerfile: Load = async () =>
  StreamLanguage.define((await import("@codemirror/legacy-modes/mode/dockerfile")).dockerFile);

const BY_END = new Map<string, Load>([
  ...["js", "mjs", "cjs"].map((end) => [end, javascript({})] as const),
  ["jsx", javascript({ jsx: true })],
  ...["ts", "mts", "cts"].map((end) => [end, javascript({ typescript: true })] as const),
  ["tsx", javascript({ typescript: true, jsx: true })],
  ...["py", "pyi"].map((end) => [end, python] as const),
  ...["md", "markdown"].map((end) => [end, markdown] as const),
  ...["json", "jsonc", "webmanifest"].map((end) => [end, json] as const),
  ...["css", "scss", "less"].map((end) => [end, css] as const),
  ...["html", "htm", "svg", "xml", "vue"].map((end) => [end, html] as const),
  ...["sh", "bash", "zsh"].map((end) => [end, shell] as const),
  ...["yml", "yaml"].map((end) => [end, yaml] as const),
  ["toml", toml],
  ...["ini", "cfg", "conf", "properties"].map((end) => [end, ini] as const),
  ["rs", rust],
  ["go", go],
  ["rb", ruby],
  ["lua", lua],
  ["swift", swift],
  ["sql", sql],
  ...["diff", "patch"].map((end) => [end, diff] as const),
  ["c", clike("c")],
  ["h", clike("c")],
  ...["cc", "cpp", "cxx", "hpp", "hh"].map((end) => [end, clike("cpp")] as const),
  ["java", clike("java")],
  ["cs", clike("csharp")],
  ["kt", clike("kotlin")],
]);

const BY_NAME = new Map<string, Load>([
  ["dockerfile", dockerfile],
  ["containerfile", dockerfile],
  [".bashrc", shell],
  [".profile", shell],
]);

/** Names of languages that are not the end of a file's name. */
const ENDS: Readonly<Record<string, string>> = {
  javascript: "js",
  typescript: "ts",
  python: "py",
  shell: "sh",
  console: "sh",
  golang: "go",
  rust: "rs",
  ruby: "rb",
  kotlin: "kt",
  "c++": "cpp",
  csharp: "cs",
  "c#": "cs",
};

/** @returns undefined for a plain text. */
export function languageOf(path: string): Load | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return BY_NAME.get(name) ?? BY_END.get(name.slice(name.lastIndexOf(".") + 1));
}

/** @param name as it stands behind the fence of a code block, such as `python` or `ts`. */
export function languageNamed(name: string): Load | undefined {
  const first =
    name
      .trim()
      .split(/[\s,{]/)[0]
      ?.toLowerCase() ?? "";
  return BY_END.get(ENDS[first] ?? first) ?? BY_NAME.get(first);
}
