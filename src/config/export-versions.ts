/** Versions of FOCUS that are written: the newest one, and the one that the official validator knows. */
export const exportVersions = ["1.4", "1.2"] as const;
export type ExportVersion = (typeof exportVersions)[number];
