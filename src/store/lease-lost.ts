/**
 * The lease of a run has gone to another worker, or ran out: whatever the run does now must not be seen. It ends the run, and is no fault of
 * the tenant or its upstream.
 */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
  constructor(epoch: number, how = "another worker has taken the tenant over") {
    super(`lease ${epoch} was lost: ${how}`);
  }
}
