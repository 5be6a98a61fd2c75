/** The background worker: connects tabs, the side panel and the server. */
void chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
