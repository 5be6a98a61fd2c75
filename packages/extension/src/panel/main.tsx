/** The side panel. It also works as a tab; `?tab=ID` makes it work on that tab. */

import { Boundary } from '@parlance/ui/components/no-access.tsx';
import { followTheme } from '@parlance/ui/state/theme.tsx';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

followTheme();
const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <Boundary>
      <App />
    </Boundary>,
  );
