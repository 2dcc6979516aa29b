/** What a gathering of the inventory found. */
export interface InventoryFindings {
  /** How many were returned of each type, as `resource:cluster`. */
  readonly seen: Map<string, number>;
  /** Types with a record that could not be stored: what is missing of them proves nothing. */
  readonly spoiled: Set<string>;
  readonly errors: string[];
}

export const noFindings = (): InventoryFindings => ({ seen: new Map(), spoiled: new Set(), errors: [] });
