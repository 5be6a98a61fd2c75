/** Installs the service worker, which opens the console while the server cannot be reached. */
export function installShell(): void {
  // Only pages of HTTPS or of this machine have one, and private windows may refuse it.
  if (!('serviceWorker' in navigator)) return;
  const install = () =>
    navigator.serviceWorker
      .register('/service-worker.js')
      .catch((reason) => console.info('no offline page:', reason));
  if (document.readyState === 'complete') void install();
  else addEventListener('load', () => void install(), { once: true });
}
