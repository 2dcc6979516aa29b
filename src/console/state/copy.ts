/** Copies of a page have exact amounts where the page shows rounded ones. */

/** Elements with rounded figures. The attribute has all digits, as a plain decimal. */
const EXACT = "data-exact";

export function copyExactAmounts(): void {
  document.addEventListener("copy", (event) => {
    const selection = getSelection();
    if (selection === null || selection.isCollapsed || event.clipboardData === null) return;
    const range = wholeAmounts(selection.getRangeAt(0));
    const copied = withExactAmounts(range);
    if (copied === undefined) return;
    event.clipboardData.setData("text/plain", copied.text);
    event.clipboardData.setData("text/html", copied.html);
    event.preventDefault();
  });
}

/** A selection of digits begins and ends within amounts. */
function wholeAmounts(selected: Range): Range {
  const range = selected.cloneRange();
  const amountAt = (node: Node) =>
    (node instanceof Element ? node : node.parentElement)?.closest(`[${EXACT}]`);
  const first = amountAt(range.startContainer);
  const last = amountAt(range.endContainer);
  if (first != null) range.setStartBefore(first);
  if (last != null) range.setEndAfter(last);
  return range;
}

/** Undefined if the range has no amounts. Only a rendered copy has the tabs and line breaks of a table in its text. */
function withExactAmounts(range: Range): { readonly text: string; readonly html: string } | undefined {
  const { commonAncestorContainer: ancestor } = range;
  const parent = ancestor instanceof Element ? ancestor : ancestor.parentElement;
  const isOfTable = parent?.closest("table") != null && parent.closest("td, th") === null;
  const copy = document.createElement("div");
  const target = isOfTable ? copy.appendChild(document.createElement("table")) : copy;
  target.append(range.cloneContents());
  const amounts = copy.querySelectorAll(`[${EXACT}]`);
  if (amounts.length === 0) return undefined;
  for (const amount of amounts) amount.textContent = amount.getAttribute(EXACT);
  // A block within a cell would be a line of its own.
  for (const block of copy.querySelectorAll("td > div:only-child")) block.replaceWith(...block.childNodes);
  // It is rendered beside the screen for a moment, because the text of hidden elements is empty.
  Object.assign(copy.style, { position: "fixed", left: "200vw" });
  document.body.append(copy);
  // biome-ignore lint/performance/useDomNodeTextContent: it has the tabs and line breaks of the page
  const text = copy.innerText;
  copy.remove();
  return { text, html: copy.innerHTML };
}
