/** The badge of the toolbar button: a question waits, or something happens in the browser. */
import { asks } from '../shared/storage.ts';

export async function showBadge(isBusy: boolean): Promise<void> {
  const waiting = (await asks.get()).filter(({ answer }) => answer === null).length;
  const text = waiting > 0 ? '?' : isBusy ? '●' : '';
  await chrome.action.setBadgeText({ text });
  await chrome.action.setBadgeBackgroundColor({ color: waiting > 0 ? '#8a5300' : '#22654f' });
  await chrome.action.setTitle({
    title:
      waiting > 0 ? 'Parlance needs your answer' : isBusy ? 'Parlance is using the browser' : 'Open Parlance',
  });
}
