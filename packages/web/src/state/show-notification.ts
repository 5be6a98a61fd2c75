/**
 * Notifications of the operating system. The service worker shows them if there is one: Chrome on Android refuses those
 * of a page, and a worker can open the console after its tab was closed.
 */
import { go } from '../router.ts';

/** URL of the icon, defined by the build. */
declare const APP_ICON: string;

export type SessionNotification = {
  readonly session: string;
  readonly title: string;
  readonly body: string;
};

const open = (id: string): void => go({ page: 'session', id });

/** Replaces an earlier one of the same session. */
export async function showNotification({ session, title, body }: SessionNotification): Promise<void> {
  const options = { body, icon: APP_ICON, tag: session, renotify: true, data: { session } };
  const registration = await navigator.serviceWorker?.getRegistration();
  if (registration?.active) return registration.showNotification(title, options);
  const shown = new Notification(title, options);
  shown.onclick = () => {
    window.focus();
    open(session);
    shown.close();
  };
}

export async function closeNotifications(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const shown of (await registration?.getNotifications()) ?? []) shown.close();
}

/** Opens the session of a notification that was clicked. Returns the stop function. */
export function followClicks(): () => void {
  const clicked = ({ data }: MessageEvent) => {
    if (data?.type === 'session.open' && typeof data.session === 'string') open(data.session);
  };
  navigator.serviceWorker?.addEventListener('message', clicked);
  return () => navigator.serviceWorker?.removeEventListener('message', clicked);
}
