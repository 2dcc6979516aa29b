/** Errors of writing assignments and accepted causes. */
import type { AssignedPeriod } from "../domain/assignment.js";

/** A resource would belong to two identities on one day. */
export interface Overlap {
  /** Number of the existing assignment. */
  readonly assignment_id: number;
  readonly existing: AssignedPeriod;
  readonly wanted: AssignedPeriod;
}

export class AssignmentOverlapError extends Error {
  override readonly name = "AssignmentOverlapError";
  constructor(readonly overlaps: readonly Overlap[]) {
    super(`${overlaps.length} assignments overlap`);
  }
}

export class AssignmentNotFoundError extends Error {
  override readonly name = "AssignmentNotFoundError";
  constructor(readonly assignmentId: number) {
    super(`no assignment ${assignmentId}`);
  }
}

/** The assignment would end before it begins. */
export class AssignmentEndError extends Error {
  override readonly name = "AssignmentEndError";
  constructor(readonly validFrom: string) {
    super(`ends before ${validFrom}`);
  }
}

export class AcceptedCauseNotFoundError extends Error {
  override readonly name = "AcceptedCauseNotFoundError";
  constructor(readonly acceptedCauseId: number) {
    super(`no accepted cause ${acceptedCauseId}`);
  }
}

export class TooManyAcceptedCausesError extends Error {
  override readonly name = "TooManyAcceptedCausesError";
}
