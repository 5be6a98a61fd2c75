/** A picture of the visible part of a tab, without the values of secret fields. */
import { askPage, ensureScripts, refuseOwnServer } from './content.ts';

/** In frames of other sites; the content script knows more fields in the page itself. */
const SECRET_FIELDS = [
  'input[type="password"]',
  'input[autocomplete^="cc-"]',
  'input[autocomplete="one-time-code"]',
  'input[name*="card" i]',
  'input[name*="cvc" i]',
  'input[name*="cvv" i]',
];
const HIDE_SECRETS = `${SECRET_FIELDS.join(',')} { color: transparent !important; text-shadow: none !important; }`;

export type Picture = {
  readonly screenshot: string;
  readonly width: number;
  readonly height: number;
  /** the numbers of elements that are drawn into it */
  readonly numbers: readonly number[];
};

/** Only the visible tab of a window can be captured: it is shown first. */
export async function captured(tab: number, { numbered = false } = {}): Promise<Picture> {
  const {
    windowId,
    width = 0,
    height = 0,
  } = await chrome.tabs.update(tab, { active: true }).then((shown) => shown ?? chrome.tabs.get(tab));
  await ensureScripts(tab);
  const hidden = { target: { tabId: tab, allFrames: true }, css: HIDE_SECRETS };
  await chrome.scripting.insertCSS(hidden);
  await askPage(tab, { kind: 'conceal', on: true });
  try {
    const numbers = numbered ? await askPage(tab, { kind: 'draw-numbers', on: true }) : [];
    const image = await chrome.tabs.captureVisibleTab(windowId, { format: 'jpeg', quality: 60 });
    // The picture is of whatever was in front: another tab, or the next page of this one.
    if (!(await chrome.tabs.get(tab)).active) throw new Error('Another tab was shown.');
    await refuseOwnServer(tab);
    return { screenshot: image.slice(image.indexOf(',') + 1), width, height, numbers };
  } finally {
    if (numbered) await askPage(tab, { kind: 'draw-numbers', on: false }).catch(() => undefined);
    await askPage(tab, { kind: 'conceal', on: false }).catch(() => undefined);
    await chrome.scripting.removeCSS(hidden);
  }
}
