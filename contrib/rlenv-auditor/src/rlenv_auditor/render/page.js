"use strict";
for (const button of document.querySelectorAll("button[data-copies]")) {
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch { // a page of the file system may not use the clipboard everywhere
      const range = document.createRange();
      range.selectNodeContents(source);
      const chosen = getSelection();
      chosen.removeAllRanges();
      chosen.addRange(range);
      document.execCommand("copy");
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
}
