/**
 * The lease of a run went to another worker, or expired: nothing that the run does now may become visible. It ends the run, and is
 * no fault of the tenant or its upstream.
 */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
  constructor(epoch: number, how = "another worker has taken the tenant over") {
    super(`lease ${epoch} was lost: ${how}`);
  }
}
