export { PRODUCT_TOLERANCE, pairs, parentCategory, priced, unitPrices } from "./column-relations.js";
export { columnsOfVersion as columnsOf, focusColumns } from "./columns.js";
export { settingsFor } from "./csv.js";
export { type CsvOrParquet as Source, formatOf, MAX_COLUMNS, UnreadableFileError } from "./format.js";
export { isoInstant } from "./iso-date.js";
export {
  type FocusFile,
  mapColumns,
  type SourceColumn,
  SPLIT_ORIGIN_COST,
  SPLIT_ORIGIN_ID,
} from "./map-columns.js";
export { nullTexts } from "./null-texts.js";
export { otherDataset } from "./other-datasets.js";
export { detectVersion, type FocusVersion, focusVersions } from "./version.js";
export { plain, writtenText } from "./written-text.js";
