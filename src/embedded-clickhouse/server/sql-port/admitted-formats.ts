/**
 * The formats that SQL clients may request, by name. Excluded are formats that need a schema or a template, which are
 * files (Protobuf, CapnProto, Template), formats that need a registry (AvroConfluent), and protocols of other servers.
 */
const FORMATS = `
  Arrow ArrowStream Avro BSONEachRow CSV CSVWithNames CSVWithNamesAndTypes CustomSeparated CustomSeparatedWithNames
  CustomSeparatedWithNamesAndTypes JSON JSONColumns JSONColumnsWithMetadata JSONCompact JSONCompactColumns
  JSONCompactEachRow JSONCompactEachRowWithNames JSONCompactEachRowWithNamesAndTypes JSONCompactEachRowWithProgress
  JSONCompactStrings JSONCompactStringsEachRow JSONCompactStringsEachRowWithNames
  JSONCompactStringsEachRowWithNamesAndTypes JSONCompactStringsEachRowWithProgress JSONEachRow
  JSONEachRowWithProgress JSONL JSONLines JSONObjectEachRow JSONStrings JSONStringsEachRow
  JSONStringsEachRowWithProgress LineAsString LineAsStringWithNames LineAsStringWithNamesAndTypes MD Markdown
  MsgPack NDJSON Native Npy Null ODBCDriver2 ORC Parquet Pretty PrettyCompact PrettyCompactMonoBlock
  PrettyCompactNoEscapes PrettyCompactNoEscapesMonoBlock PrettyJSONEachRow PrettyJSONLines PrettyMonoBlock
  PrettyNDJSON PrettyNoEscapes PrettyNoEscapesMonoBlock PrettySpace PrettySpaceMonoBlock PrettySpaceNoEscapes
  PrettySpaceNoEscapesMonoBlock Raw RawBLOB RawWithNames RawWithNamesAndTypes RowBinary
  RowBinaryWithNames RowBinaryWithNamesAndTypes SQLInsert TSKV TSV TSVRaw TSVRawWithNames TSVRawWithNamesAndTypes
  TSVWithNames TSVWithNamesAndTypes TabSeparated TabSeparatedRaw TabSeparatedRawWithNames
  TabSeparatedRawWithNamesAndTypes TabSeparatedWithNames TabSeparatedWithNamesAndTypes Values Vertical XML
`;

const ADMITTED = new Set(FORMATS.toLowerCase().trim().split(/\s+/));

/** Names of formats are case-insensitive. */
export function isAdmittedFormat(name: string): boolean {
  return ADMITTED.has(name.toLowerCase());
}

/** The names as the engine writes them, for tests and documentation. */
export const ADMITTED_FORMATS: readonly string[] = FORMATS.trim().split(/\s+/);
