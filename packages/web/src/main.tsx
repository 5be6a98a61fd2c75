import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { installShell } from './state/offline-shell.ts';
import { lookAround } from './state/server.ts';
import { followTheme } from './state/theme.ts';

followTheme();
void lookAround();
const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
installShell();
