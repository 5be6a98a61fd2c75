/** Desktop notifications while the page is hidden: approvals and finished turns. */
import type { ActivityEvent } from '@parlance/sdk';
import { go } from '../router.ts';
import { onActivity } from './activity.ts';
import { readStorage, writeStorage } from './storage.ts';
import { store, useStore } from './store.ts';

const NAME = 'parlance.notifications';

export const canNotify = (): boolean => typeof Notification !== 'undefined';

const wanted = store<boolean>(readStorage('local', NAME) === 'on');
export const useNotifications = (): boolean => useStore(wanted);

/** Asks the browser for permission. False if it was refused. */
export async function turnOnNotifications(): Promise<boolean> {
  const isGranted = canNotify() && (await Notification.requestPermission()) === 'granted';
  set(isGranted);
  return isGranted;
}

export const turnOffNotifications = (): void => set(false);

function set(on: boolean): void {
  wanted.set(on);
  writeStorage('local', NAME, on ? 'on' : null);
}

/** The text for an event; null if it is none to interrupt somebody for. */
export function noticeOf(event: ActivityEvent): { readonly title: string; readonly body: string } | null {
  switch (event.type) {
    case 'approval.requested':
      return { title: 'Needs approval', body: event.ask.description };
    case 'turn.ended':
      return { title: 'Finished', body: 'The agent has answered.' };
    case 'turn.failed':
      return { title: 'Failed', body: event.fault.message };
    default:
      return null;
  }
}

export function followNotifications(): () => void {
  return onActivity((event) => {
    if (!wanted.get() || document.visibilityState === 'visible' || !canNotify()) return;
    const notice = noticeOf(event);
    if (notice === null || !('session' in event) || event.session === null) return;
    const id = event.session;
    const shown = new Notification(notice.title, { body: notice.body, tag: id });
    shown.onclick = () => {
      window.focus();
      go({ page: 'session', id });
      shown.close();
    };
  });
}
