# want: {"compiled": false, "correctness": false, "fault": "reference", "ref_runtime.mean": 0}
# ref_kernel: torch
def forward(:
# custom_kernel: torch
def forward(:
