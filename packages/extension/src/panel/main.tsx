/** The side panel. It also works as a tab; `?tab=ID` makes it work on that tab. */
import { createRoot } from 'react-dom/client';
import { Boundary } from '../../../web/src/components/boundary.tsx';
import { followTheme } from '../../../web/src/state/theme.ts';
import { App } from './app.tsx';

followTheme();
const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <Boundary>
      <App />
    </Boundary>,
  );
