package webtest

// Happens processes all pending events into webhook deliveries and inbox notices.
func (s *Site) Happens() {
	s.T.Helper()
	for {
		n, err := s.Cfg.Store.Webhooks.CreateDeliveries(s.T.Context())
		if err != nil {
			s.T.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}
