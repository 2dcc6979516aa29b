/** Folders of this machine that bills and uploads are delivered to. */
import type { DeliveryFolder } from "../../ecosystem.js";
import type { FocusSettings } from "./settings.js";
import { folderSource } from "./sources/files/folder.js";
import { readLocation } from "./sources/location.js";
import { MOST_UPLOADED_FILES } from "./usage/upload-folder.js";

export function deliveryFolders({ sources, usage }: FocusSettings): DeliveryFolder[] {
  const bills = sources.flatMap(({ location, limits }) => {
    const place = readLocation(location);
    if (place.kind !== "folder") return [];
    const { list } = folderSource({ ...place, maxFiles: limits.max_files });
    return [{ list, settleMs: limits.settle_seconds * 1000 }];
  });
  const { folder: path, settle_seconds } = usage.uploads;
  if (path === undefined) return bills;
  const { list } = folderSource({ path, glob: undefined, maxFiles: MOST_UPLOADED_FILES });
  return [...bills, { list, settleMs: settle_seconds * 1000 }];
}
