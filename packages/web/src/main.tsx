// First: its listeners come before all others.
import './state/trusted-events.ts';
import { followSignIn, loadServer } from '@parlance/ui/state/server.ts';
import { followTheme } from '@parlance/ui/state/theme.tsx';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

followTheme();
void loadServer();
followSignIn();
const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
installShell();

/** Installs the service worker, which opens the console while the server cannot be reached. */
function installShell(): void {
  // Only pages of HTTPS or of this machine have one, and private windows may refuse it.
  if (!('serviceWorker' in navigator)) return;
  const install = () =>
    navigator.serviceWorker
      .register('/service-worker.js')
      .catch((reason) => console.info('no offline page:', reason));
  if (document.readyState === 'complete') void install();
  else addEventListener('load', () => void install(), { once: true });
}
