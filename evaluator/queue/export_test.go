package queue

// Addr is the URL where remote workers connect; empty when the queue does not listen.
func (q *Queue) Addr() string {
	if q.server == nil || q.cfg.ListenAddress == "" {
		return ""
	}
	return q.server.ClientURL()
}
