import { cpp as support, cppLanguage } from "@codemirror/lang-cpp";
import { cpp, cuda, harness } from "./words-cpp.js";
import { source } from "./words.js";

export const language = (area) => [
  support(),
  cppLanguage.data.of({ autocomplete: source(area, area.dataset.lang === "cu" ? [...harness, ...cuda] : [...harness, ...cpp], true) }),
];
