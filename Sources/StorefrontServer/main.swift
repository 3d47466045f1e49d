import Storefront

Storefront.main()
