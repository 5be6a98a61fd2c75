/** The element of the indicator, which is not part of the page. */
export const INDICATOR = 'parlance-indicator';
