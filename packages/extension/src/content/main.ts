/** The content script of a tab. */
export {};
