import { createContext } from 'react';

/**
 * The session whose files and timeline can be opened from its messages; null where there are none, as in the panel of the extension.
 */
export const ConsoleSession = createContext<string | null>(null);
