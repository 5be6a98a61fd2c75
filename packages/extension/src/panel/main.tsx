/** The side panel, which also works as a tab. */
import { createRoot } from 'react-dom/client';

const root = document.getElementById('root');
if (root) createRoot(root).render(<main>Parlance</main>);
