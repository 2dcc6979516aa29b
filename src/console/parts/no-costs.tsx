import { pathOf } from "../state/paths.js";
import { en } from "../text/en.js";
import { Link } from "./link.js";
import { Empty } from "./messages.js";

/** In the place of a view of a period that nothing was charged in: where one sees why. */
export function NoCosts({ tenant }: { readonly tenant: string }) {
  return (
    <Empty title={en.overview.noCosts}>
      <p>{en.overview.noCostsHint}</p>
      <Link href={pathOf(tenant, "runs")}>{en.views.runs}</Link>
    </Empty>
  );
}
