import { python as support, pythonLanguage } from "@codemirror/lang-python";
import { python } from "./words-python.js";
import { source } from "./words.js";

export const language = (area) => [support(), pythonLanguage.data.of({ autocomplete: source(area, python, false) })];
