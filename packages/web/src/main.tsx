import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { installShell } from './state/offline-shell.ts';
import { lookAround } from './state/server.ts';
import { applyTheme } from './state/theme.ts';

applyTheme();
void lookAround();
const root = document.getElementById('root');
if (root) createRoot(root).render(<App />);
installShell();
