// Print shows the details of all runs, because paper cannot be clicked.

/** Opens the details of the runs for print, and closes them again. */
export function unfoldForPrint() {
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details.run:not([open])")];
    folded.forEach((run) => (run.open = true));
  });
  window.addEventListener("afterprint", () => folded.forEach((run) => (run.open = false)));
}
