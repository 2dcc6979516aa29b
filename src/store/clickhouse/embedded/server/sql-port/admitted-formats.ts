/**
 * The formats that SQL clients may request, each by its name. Left out are those that need a schema or a template, which are files
 * (Protobuf, CapnProto, Template), those that need a registry (AvroConfluent), and those that are protocols of other servers.
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

/** Names of formats have no case. */
export function isAdmittedFormat(name: string): boolean {
  return ADMITTED.has(name.toLowerCase());
}

/** For tests and documentation, as the engine writes them. */
export const ADMITTED_FORMATS: readonly string[] = FORMATS.trim().split(/\s+/);
