// Paper has no clicks: what was run is printed, whether it is folded up or not.

/** Unfolds the runs for print, and folds them up again. */
export function unfoldForPrint() {
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.run:not([open])")];
    folded.forEach((run) => (run.open = true));
  });
  window.addEventListener("afterprint", () => folded.forEach((run) => (run.open = false)));
}
