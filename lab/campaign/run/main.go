// Command run runs a campaign of random plans (package campaign).
package main

import "github.com/dpaccountant/accountant/lab/campaign"

func main() { campaign.Main() }
