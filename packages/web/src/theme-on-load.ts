/** Runs before the page is drawn, so that it never appears in the other theme. The application itself is loaded later. */
import { showTheme, storedTheme } from '@parlance/ui/state/storage.ts';

showTheme(storedTheme());
