// First: its listeners come before all others.
import './state/trusted-events.ts';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { installShell } from './state/offline-shell.ts';
import { loadServer } from './state/server.ts';
import { followTheme } from './state/theme.ts';

followTheme();
void loadServer();
const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
installShell();
