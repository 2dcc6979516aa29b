/** Folders of this machine that bills and uploads are delivered to. */
import type { DeliveryFolder } from "../../ecosystem.js";
import type { FocusSettings } from "./settings.js";
import { folderSource } from "./sources/files/folder.js";
import { readLocation } from "./sources/location.js";
import { uploadSource } from "./usage/upload-folder.js";

export function deliveryFolders({ sources, usage }: FocusSettings): DeliveryFolder[] {
  const bills = sources.flatMap(({ location, limits }) => {
    const place = readLocation(location);
    if (place.kind !== "folder") return [];
    const { list } = folderSource({ ...place, maxFiles: limits.max_files });
    return [{ list, settleMs: limits.settle_seconds * 1000 }];
  });
  const uploads = uploadSource(usage);
  if (uploads === undefined) return bills;
  return [...bills, { list: uploads.list, settleMs: usage.uploads.settle_seconds * 1000 }];
}
