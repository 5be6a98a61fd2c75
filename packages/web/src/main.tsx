// First: its listeners come before all others.
import './state/trusted-events.ts';
import { loadServer } from '@parlance/ui/state/server.ts';
import { followTheme } from '@parlance/ui/state/theme.ts';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { installShell } from './state/offline-shell.ts';

followTheme();
void loadServer();
const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
installShell();
