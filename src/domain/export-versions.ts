/** Versions of FOCUS that we can write: the newest, and the one that the official validator supports. */
export const exportVersions = ["1.4", "1.2"] as const;
export type ExportVersion = (typeof exportVersions)[number];
