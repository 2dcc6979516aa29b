import t from "tap";
import { needs } from "../programs.js";
import { billTutorial, programs, readPages, tutorial } from "./reader.js";

t.test("every command of the tutorials works", needs(...programs), async (t) =>
  readPages(t, [tutorial, billTutorial]),
);
