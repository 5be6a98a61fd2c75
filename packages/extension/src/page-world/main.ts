/** The script in the world of the page itself. */
export {};
