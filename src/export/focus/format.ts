/** The file formats of a FOCUS export. */
import { type ExportFormat, exportFormats } from "../format.js";

/** `focus` means CSV. */
export const focusFormats = {
  focus: exportFormats.csv,
  focus_parquet: exportFormats.parquet,
} as const satisfies Record<string, ExportFormat>;

export type FocusFormatName = keyof typeof focusFormats;

export const focusFormatNames = Object.keys(focusFormats) as FocusFormatName[];

export function isFocusFormat(name: string | undefined): name is FocusFormatName {
  return name !== undefined && Object.hasOwn(focusFormats, name);
}
