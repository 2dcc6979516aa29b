/** Results of gathering the inventory. */
export interface InventoryFindings {
  /** Number of returned records of each type, such as `resource:cluster`. */
  readonly counts: Map<string, number>;
  /** Types with a record that could not be stored. A missing record of them does not prove a deletion. */
  readonly incomplete: Set<string>;
  readonly errors: string[];
}

export const noFindings = (): InventoryFindings => ({ counts: new Map(), incomplete: new Set(), errors: [] });
