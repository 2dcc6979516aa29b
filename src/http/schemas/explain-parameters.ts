/** Query parameters that select the amount to explain. */
import { Type } from "@sinclair/typebox";
import { MOST_STEPS } from "../../domain/passed-cost.js";
import { id, paging } from "./parameters.js";

const COMPONENT_MOST = 255;

export const explainParameters = {
  date: Type.String({
    format: "date",
    description: "UTC day of the amount. Years 1900 to 2299.",
    examples: ["2026-01-01"],
  }),
  timestamp: Type.Optional(
    Type.String({
      format: "date-time",
      description: "Only rows of billing lines with this timestamp, if the day has several. With its offset.",
      examples: ["2026-01-01T00:00:00Z"],
    }),
  ),
  component: Type.Optional(
    Type.Integer({
      description: "Only rows of this component of the line, from 0.",
      minimum: 0,
      maximum: COMPONENT_MOST,
      examples: [0],
    }),
  ),
  currency: Type.Optional(id("USD", "Only the row in this currency.")),
  line_id: Type.Optional(
    Type.Integer({
      description: "Only the row of this line, if several lines are equal in all of the above.",
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [0],
    }),
  ),
  path_id: Type.Optional(
    Type.Integer({
      description:
        "Only the row with this path, if steps of `allocation.pass_on` passed several on; 0 for the row that no step passed on.",
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      examples: [0],
    }),
  ),
  giving: Type.Optional(
    Type.Integer({
      description:
        "Explains how a rule (0) or a step of `path` (from 1) gave the cost, before later steps took it. By default the last one. " +
        "`identity_id`, `row` and all that follows are then those of the identity that was given it.",
      minimum: 0,
      maximum: MOST_STEPS,
      examples: [0],
    }),
  ),
  ...paging,
};
