import t from "tap";
import { needs } from "../programs.js";
import { programs, readPages, tutorial } from "./reader.js";

t.test("every command of the tutorial", needs(...programs), async (t) => readPages(t, [tutorial]));
