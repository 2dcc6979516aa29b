/** Parses the listings of a bucket, page by page (ListObjectsV2), and S3 error responses. */
import { parseXml, XmlElement, XmlText } from "@rgrove/parse-xml";

export interface ListedObject {
  readonly key: string;
  readonly size: number;
  /** Without quotes. */
  readonly etag: string;
  readonly modified: number;
  readonly storageClass: string;
}

export interface ListingPage {
  readonly objects: readonly ListedObject[];
  /** Continuation token of the next page. Undefined on the last page. */
  readonly next: string | undefined;
}

function children(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement => child instanceof XmlElement && child.name === name,
  );
}

function textOf(element: XmlElement, name: string): string {
  const [child] = children(element, name);
  return child?.children.map((part) => (part instanceof XmlText ? part.text : "")).join("") ?? "";
}

/** With `encoding-type=url`, `+` means a blank, and a plus sign is always `%2B`. */
function decoded(text: string, encoding: string): string {
  return encoding === "url" ? decodeURIComponent(text.replaceAll("+", "%20")) : text;
}

/** Throws if the text is not a complete page. */
export function readListingPage(xml: string): ListingPage {
  const { root } = parseXml(xml);
  if (root?.name !== "ListBucketResult") throw new Error("the response is not a listing of a bucket");
  const encoding = textOf(root, "EncodingType");
  const objects = children(root, "Contents").map((entry): ListedObject => {
    const size = textOf(entry, "Size");
    const modified = Date.parse(textOf(entry, "LastModified"));
    const etag = textOf(entry, "ETag").replace(/^"(.*)"$/s, "$1");
    const key = decoded(textOf(entry, "Key"), encoding);
    if (key === "" || !/^\d{1,15}$/.test(size) || Number.isNaN(modified) || etag === "")
      throw new Error("an object of the listing has no key, size, date or ETag");
    return { key, size: Number(size), etag, modified, storageClass: textOf(entry, "StorageClass") };
  });
  const truncated = textOf(root, "IsTruncated");
  if (truncated !== "true" && truncated !== "false")
    throw new Error("the listing does not say whether it is complete");
  const next = textOf(root, "NextContinuationToken");
  if (truncated === "true" && next === "")
    throw new Error("the listing is not complete, and does not say where it goes on");
  return { objects, next: truncated === "true" ? next : undefined };
}

/** Returns code and message of an S3 error. Undefined for any other text. */
export function readS3Error(xml: string): string | undefined {
  try {
    const { root } = parseXml(xml);
    if (root?.name !== "Error") return undefined;
    return [textOf(root, "Code"), textOf(root, "Message")].filter((part) => part !== "").join(": ");
  } catch {
    return undefined;
  }
}
